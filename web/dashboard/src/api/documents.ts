/** Published documents as docs/reference/file-formats.md describes them, as far as they are shown. */

/** What a row says of its probability; null where there is nothing to say. */
export interface Estimate {
  readonly cell: 'record' | 'query' | 'other_url' | 'other';
  readonly query: string | null;
  readonly url?: string | null;
  readonly probability: number;
  readonly raw_probability: number;
  readonly std_error: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly opt_in_probability: number | null;
  readonly opt_in_std_error: number | null;
  readonly client_probability: number | null;
  readonly client_std_error: number | null;
  readonly opt_in_weight: number | null;
  readonly relay_probability?: number | null;
  readonly relay_std_error?: number | null;
  readonly relay_weight?: number | null;
}

export interface Drift {
  readonly p_value: number;
  readonly is_significant: boolean;
  readonly sentence: string;
  readonly widest: readonly { readonly query: string; readonly z: number }[];
}

export interface Disagreement {
  readonly is_alarming: boolean;
  readonly sentence: string;
  readonly widest: readonly {
    readonly query: string | null;
    readonly url: string | null;
    readonly z: number;
  }[];
}

/** ε and δ, exactly: integers, fractions or decimals as text. */
export interface Loss {
  readonly epsilon: string;
  readonly delta: string;
}

export interface CertificatePart {
  readonly release: string;
  readonly method: string;
  readonly verdict: string;
  readonly promised: Loss;
  readonly spent: Loss;
  readonly tight_epsilon: string | null;
  readonly add_remove_epsilon?: string | null;
}

export interface Account {
  readonly to: string;
  readonly model: string;
  readonly verdict: string;
  readonly promised: Loss;
  readonly spent: Loss;
  readonly tight_epsilon: string | null;
  readonly add_remove_epsilon?: string | null;
  readonly parts: readonly CertificatePart[];
}

export interface Certificate {
  readonly verdict: string;
  readonly sentence: string;
  readonly accounts: readonly Account[];
}

export interface Release {
  readonly private: boolean;
  readonly created: string;
  readonly head_list: string;
  readonly preset: string;
  readonly promise: { readonly epsilon: number; readonly delta: number };
  readonly users: Readonly<Record<string, number>>;
  readonly confidence: number;
  readonly certificate: Certificate;
  readonly drift: Drift | null;
  /** Relay clients compared with local clients; only in a release with relay clients. */
  readonly relay_drift?: Drift | null;
  readonly disagreement: Disagreement | null;
  readonly unlisted_bound?: number | null;
  /** How the list was found: public constants, for plans. */
  readonly discovery?: Readonly<Record<string, string | number | boolean | null>> | null;
  readonly relay_batch?: { readonly outcome: string; readonly sentence: string };
  readonly records: readonly Estimate[];
  readonly queries: readonly Estimate[];
}

export interface Mechanism {
  readonly name: string;
  readonly version: number;
  readonly epsilon: string;
  readonly query_share?: string;
}

/** The signed list with its place in the public log. */
export interface HeadListDocument {
  readonly campaign: string;
  readonly head_list: {
    readonly digest: string;
    readonly mechanism: Mechanism;
    readonly relay?: { readonly report_epsilon: string };
    readonly queries: readonly { readonly query: string; readonly urls: readonly string[] }[];
  };
  readonly log_entry: { readonly index: number; readonly time: string; readonly hash: string };
  readonly public_key: string;
  readonly signature: string;
}

/** One predicted measure; null where there is no number. */
export interface Predicted {
  readonly mean: number | null;
  readonly error: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Plan {
  readonly like: string;
  /** What relay clients would be promised; null without a relay. */
  readonly relay_sentence: string | null;
  /** The same users if no client uses a relay; null if none does. */
  readonly without_relay: { readonly measures: Readonly<Record<string, Predicted>> } | null;
  readonly users: number;
  readonly opt_in_users: number;
  readonly draws: number;
  readonly measures: Readonly<Record<string, Predicted>>;
  readonly known_queries: number;
  readonly remarks: readonly string[];
}
