/** What browsers are asked for: as little as it takes. */
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

test('each browser gets the background that it knows', () => {
  expect(manifest('chromium', '1')).toMatchObject({ background: { service_worker: 'worker.js' } });
  expect(manifest('firefox', '1')).toMatchObject({ background: { scripts: ['worker.js'] } });
});
