/** What browsers are asked for: as little as it takes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { manifest } from '../manifest.js';

const BROWSERS = ['chromium', 'firefox'] as const;

test.each(BROWSERS)(
  '%s is asked for nothing that every installation would have to grant',
  (browser) => {
    const made = manifest(browser, '1.2.3');
    expect(made).toMatchObject({
      manifest_version: 3,
      version: '1.2.3',
      permissions: ['alarms', 'scripting', 'storage'],
      incognito: 'not_allowed',
    });
    expect(made).not.toHaveProperty('host_permissions');
    expect(made).not.toHaveProperty('content_scripts');
    expect(made).not.toHaveProperty('externally_connectable');
    expect(made).not.toHaveProperty('web_accessible_resources');
  },
);

test.each(BROWSERS)('%s runs no code but what is in the package', (browser) => {
  const { content_security_policy: policy } = manifest(browser, '1') as {
    content_security_policy: { extension_pages: string };
  };
  expect(policy.extension_pages).toContain("default-src 'none'; script-src 'self';");
  expect(policy.extension_pages).not.toMatch(/unsafe|\*(?!;| |$)|data:|blob:/);
});

test('the description promises no more than is so', () => {
  const { description } = manifest('chromium', '1') as { description: string };
  expect(description).not.toMatch(/stay on|never/);
  expect(description.length).toBeLessThanOrEqual(132); // what stores take
});

test('Firefox is told what may be sent, and that nothing need be', () => {
  const { browser_specific_settings: own } = manifest('firefox', '1') as {
    browser_specific_settings: { gecko: Readonly<Record<string, unknown>> };
  };
  expect(own.gecko).toMatchObject({
    id: expect.stringMatching(/^\{[0-9a-f-]{36}\}$/),
    data_collection_permissions: {
      required: ['none'],
      optional: ['searchTerms', 'browsingActivity'],
    },
  });
});

test.each(BROWSERS)('%s gets icons of all sizes that stores ask for', (browser) => {
  const { icons } = manifest(browser, '1') as { icons: Readonly<Record<string, string>> };
  expect(Object.keys(icons)).toEqual(['16', '32', '48', '128']);
  for (const [size, path] of Object.entries(icons)) {
    const file = new URL(`../public/${path}`, import.meta.url);
    expect(readFileSync(file).readUInt32BE(16), path).toBe(Number(size)); // the width in a PNG
  }
});

test('who publishes the extension names its homepage', () => {
  const homepage = 'https://publisher.example/';
  expect(manifest('firefox', '1', homepage)).toMatchObject({ homepage_url: homepage });
  expect(manifest('firefox', '1')).not.toHaveProperty('homepage_url');
});

test('each browser gets the background that it knows', () => {
  expect(manifest('chromium', '1')).toMatchObject({ background: { service_worker: 'worker.js' } });
  expect(manifest('firefox', '1')).toMatchObject({ background: { scripts: ['worker.js'] } });
});
