/** Made from docs/reference/openapi.json by `npm run types`; do not edit. */
export interface Schemas {
  BatchState: 'waiting' | 'complete' | 'destroyed' | 'absent';
  Change: {
    after: number | null;
    before: number | null;
    difference: number | null;
    high: number | null;
    listing: 'listed in both' | 'new on the list' | 'left the list' | 'below the other list' | 'the other list is empty';
    low: number | null;
    p_value: number | null;
    query: string;
    verdict: 'rose' | 'fell' | null;
  };
  ConsentText: {
    text: string;
    version: string;
  };
  Contributed: {
    repeated: boolean;
  };
  ContributedRecord: {
    query: string;
    url: string;
  };
  Health: {
    reasons: (Schemas['Trouble'])[];
    status: 'ok' | 'degraded';
    version: string;
  };
  IssuedToken: {
    response: string;
  };
  IssuerOfCampaign: {
    address: string;
    public_key: string;
  };
  JobKind: 'head-list' | 'erase' | 'release';
  JobState: 'waiting' | 'running' | 'done' | 'failed';
  Move: 'open-opt-in' | 'seal-opt-in' | 'publish-list' | 'open-clients' | 'seal-clients' | 'release' | 'purge';
  NewCampaign: {
    consent: Schemas['ConsentText'];
    contact: string;
    controller: string;
    expected_clients: number;
    issuer?: Schemas['IssuerOfCampaign'] | null;
    known?: string | null;
    name: string;
    open_enrolment?: boolean;
    parameters: Schemas['Promise'];
    privacy_policy: string;
    purpose: string;
    query_name?: string | null;
    relay?: Schemas['RelayOfCampaign'] | null;
    reports?: Schemas['Reports'];
    rules?: Schemas['When'];
    url_name?: string | null;
  };
  NewContribution: {
    consent: Schemas['Receipt'];
    records: (Schemas['ContributedRecord'])[];
    version: 1;
  };
  OneToken: {
    token: string;
  };
  ProblemDocument: {
    status: number;
    title: string;
    type: string;
    where?: string;
  };
  Promise: {
    delta: number;
    epsilon: number;
    head_list_size?: number | null;
    head_list_user_fraction?: number;
    one_record_each?: boolean;
    preset?: 'sharp' | 'paper';
    project?: boolean;
    query_budget_fraction?: number;
    records_per_client?: 1;
    records_per_optin_user?: number;
  };
  Question: {
    delta: number;
    epsilon: number;
    head_list_size?: number | null;
    known?: boolean;
    like?: string;
    opt_in?: number;
    preset?: 'sharp' | 'paper';
    relay?: number;
    relay_cap?: number;
    users: number;
  };
  Receipt: {
    given_at: string;
    text_digest: string;
    version: string;
  };
  RelayOfCampaign: {
    address: string;
    dishonest?: number;
    epsilon_cap?: number;
    least_batch: number;
    public_key: string;
  };
  RelayStatement: {
    campaign: string;
    count: number;
    destroyed?: true;
    digest?: string;
    head_list: string;
    pieces?: number;
  };
  RelayTotals: {
    counted: number | null;
    state: Schemas['BatchState'];
    stated: number | null;
  };
  ReportTotals: {
    query: number;
    record: number;
  };
  Reports: 'open' | 'token';
  SentPiece: {
    piece?: number;
    public_key: string;
    reports?: (string)[];
    signature: string;
    statement: Schemas['RelayStatement'];
    version: 1;
  };
  ShownBatch: {
    complete: boolean;
    count: number | null;
    counted: number | null;
    pieces_received: (number)[];
    state: 'waiting' | 'complete' | 'destroyed' | 'absent' | 'counted';
    statement: Record<string, unknown> | null;
  };
  ShownCampaign: {
    certificate?: Record<string, unknown> | null;
    consent: Schemas['ShownConsent'];
    contact: string | null;
    controller: string | null;
    created_at: string;
    description?: Record<string, unknown> | null;
    expected_clients: number;
    id: string;
    issuer?: Schemas['IssuerOfCampaign'] | null;
    known?: string | null;
    moved_at: string;
    name: string;
    open_enrolment: boolean;
    parameters: Record<string, unknown>;
    privacy_policy: string | null;
    purpose: string;
    query_name?: string | null;
    relay?: Schemas['RelayOfCampaign'] | null;
    reports?: Schemas['Reports'];
    rules: Schemas['When'];
    state: Schemas['State'];
    url_name?: string | null;
    warnings?: (string)[];
  };
  ShownCampaigns: {
    campaigns: (Schemas['ShownCampaign'])[];
  };
  ShownConsent: {
    text: string;
    text_digest: string;
    version: string;
  };
  ShownJob: {
    advice: string | null;
    attempts: number;
    can_retry: boolean;
    failure: string | null;
    id: number;
    kind: Schemas['JobKind'];
    state: Schemas['JobState'];
  };
  ShownProgress: {
    contributed: number;
    enrolled: number;
    jobs: (Schemas['ShownJob'])[];
    refused: Record<string, number>;
    relayed?: Schemas['RelayTotals'] | null;
    reports: Schemas['ReportTotals'];
    tokens: number;
    withdrawn: number;
  };
  ShownTrends: {
    changes: (Schemas['Change'])[];
    confidence: number;
    false_discovery_rate: number;
    private: boolean;
  };
  SignedLog: {
    entries: (Record<string, unknown>)[];
    public_key: string;
    signature: string;
  };
  State: 'draft' | 'opt-in-open' | 'opt-in-sealed' | 'list-published' | 'clients-open' | 'clients-sealed' | 'released' | 'purged';
  Taker: {
    name: string;
    role: string;
  };
  Tokens: {
    tokens: (string)[];
  };
  Trouble: 'store-unreachable' | 'store-refuses-writes' | 'database-moved' | 'keys-gone' | 'disk-almost-full';
  WantedEnrolments: {
    count: number;
  };
  WantedMove: {
    from: Schemas['State'];
    move: Schemas['Move'];
  };
  WantedRetry: {
    kind: Schemas['JobKind'];
  };
  WantedToken: {
    request: string;
    version: 1;
  };
  When: {
    clients_enough?: number | null;
    clients_from?: string | null;
    clients_until?: string | null;
    open_hours?: number;
    opt_in_enough?: number | null;
    opt_in_until?: string | null;
    relay_wait_hours?: number | null;
  };
}
