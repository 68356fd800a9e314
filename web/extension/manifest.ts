/** Manifest of the extension: one source, one manifest per browser. */

export type Browser = 'chromium' | 'firefox';

/** Where the extension may ask to work; nothing is granted before a person agrees. */
const HOSTS = ['https://*/*', 'http://127.0.0.1/*', 'http://localhost/*'];

/** Only what is in the package runs; requests go to services that a person named. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  'connect-src https: http://127.0.0.1:* http://localhost:*',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ICONS = {
  16: 'icons/16.png',
  32: 'icons/32.png',
  48: 'icons/48.png',
  128: 'icons/128.png',
};

/** Returns the manifest for a browser; who publishes the extension names a homepage. */
export function manifest(browser: Browser, version: string, homepage?: string): object {
  return {
    manifest_version: 3,
    name: 'Blender: popular searches, privately',
    version,
    description:
      'Popular searches, also offline. You choose what leaves your device: your searches, a scrambled report, or nothing.',
    permissions: ['alarms', 'scripting', 'storage'],
    optional_host_permissions: HOSTS,
    incognito: 'not_allowed',
    icons: ICONS,
    action: { default_popup: 'popup.html', default_icon: ICONS, default_title: 'Popular searches' },
    options_ui: { page: 'options.html', open_in_tab: true },
    omnibox: { keyword: 'bl' },
    content_security_policy: { extension_pages: CONTENT_SECURITY_POLICY },
    ...(homepage ? { homepage_url: homepage } : {}),
    ...OWN[browser],
  };
}

/** What may be sent after a person agreed, in the words of Firefox. */
const SENT_KINDS = ['searchTerms', 'browsingActivity'];

/** Both must know Ed25519 in WebCrypto: without it no head list can be checked. */
const OWN: Readonly<Record<Browser, object>> = {
  chromium: {
    background: { service_worker: 'worker.js', type: 'module' },
    minimum_chrome_version: '137',
  },
  firefox: {
    background: { scripts: ['worker.js'], type: 'module' },
    browser_specific_settings: {
      gecko: {
        id: '{16e9911b-f049-4086-8ecd-a2b45e26dabd}',
        strict_min_version: '142.0', // the first that asks about the next line on phones too
        data_collection_permissions: { required: ['none'], optional: SENT_KINDS },
      },
    },
  },
};
