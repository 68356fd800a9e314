/** Short names for the messages of the service. */
import type { Schemas } from './schema.js';

export type Campaign = Schemas['ShownCampaign'];
export type State = Schemas['State'];
export type Move = Schemas['Move'];
export type JobKind = Schemas['JobKind'];
export type Job = Schemas['ShownJob'];
export type ProgressCounts = Schemas['ShownProgress'];
export type NewCampaign = Schemas['NewCampaign'];
export type Rules = Schemas['When'];
export type Issuer = Schemas['IssuerOfCampaign'];
export type Relay = Schemas['RelayOfCampaign'];
export type Question = Schemas['Question'];
export type Taker = Schemas['Taker'];
export type Tokens = Schemas['Tokens'];
export type CampaignList = Schemas['ShownCampaigns'];
export type Change = Schemas['Change'];
export type Trends = Schemas['ShownTrends'];
export type ProblemDocument = Schemas['ProblemDocument'];
