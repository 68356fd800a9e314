/** `@blender-dp/client`: private reports, and local search. */
export { textDigest } from './canonical.js';
export {
  type Account,
  BlenderClient,
  type ClientOptions,
  type Contributed,
  type ListSummary,
  type Reported,
  type ReportOptions,
  type TokenSummary,
} from './client.js';
export type { Contribution } from './contribution.js';
export { type Description, readDescription } from './description.js';
export {
  type Change,
  type EntryState,
  findEntry,
  type Ledger,
  type LedgerEntry,
  type Role,
  upToDate,
} from './ledger.js';
export type { Odds } from './odds.js';
export { DEFAULT_POLICY, type Policy } from './policy.js';
export type { Result } from './refusal.js';
export type { DescribedRelay } from './relay/listed-relay.js';
export type { RelaySummary } from './relay/relay-summary.js';
export type { SearchRecord } from './report.js';
export { type Link, LocalSearch, type Suggestion } from './search/local-search.js';
export type { ServingRule } from './search/serving.js';
export { type WebAddress, webAddress } from './search/urls.js';
export { checkHeadList } from './signed-head-list.js';
export { indexedDbStorage, memoryStorage, type Storage } from './storage.js';
export type { DescribedIssuer } from './token/listed-issuer.js';
export type { Fetch } from './transport.js';
export { drawBelow, secureBytes, type UniformBytes } from './uniform.js';
