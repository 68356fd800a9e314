/** Mechanism of the reports, as it is published with a head list; each has a file of its own. */
import { type Fields, isObject, type Json } from './canonical.js';
import type { Cells } from './cells.js';
import type { Fraction } from './fraction.js';
import { localAlg } from './local-alg.js';
import type { Odds } from './odds.js';
import { must } from './refusal.js';
import { subsetSelection } from './subset-selection.js';
import type { UniformBytes } from './uniform.js';

/** Draws what a report says instead of the true cell: the fields that not all reports share. */
export type Draw = (cell: number, uniform: UniformBytes) => Fields;

/** Everything that a device knows of a mechanism; numbers are decimal texts, as published. */
export interface Mechanism {
  /** The fields that a head list publishes. */
  readonly document: Fields;
  readonly epsilon: string;
  /** δ of all reports together; '0.0' if they are purely private. */
  readonly delta: string;
  /** Returns by how much two inputs may differ in the probability of a report. */
  readonly likelihoodRatio: (cells: Cells) => Fraction;
  /** Returns the odds of every question that is asked. */
  readonly odds: (cells: Cells) => readonly Odds[];
  /** Prepares the report with this id: everything but the draw itself. */
  readonly prepare: (cells: Cells, reportId: Uint8Array) => Promise<Draw>;
}

/** Every mechanism, by name and version. */
const MECHANISMS: Readonly<Record<string, (described: Fields) => Mechanism>> = {
  'local-alg/1': localAlg,
  'subset-selection/1': subsetSelection,
};

/** Returns the name of a mechanism with its version, as reports have it. */
export function nameOf({ name, version }: Fields): string {
  return `${name}/${version}`;
}

/** Reads the mechanism of a head list; refuses one that is unknown or outside its range. */
export function readMechanism(value: Json | undefined): Mechanism {
  must(isObject(value), 'mechanism must be an object with fields');
  const read = MECHANISMS[nameOf(value)];
  must(read !== undefined, `mechanism must be ${Object.keys(MECHANISMS).join(' or ')}`);
  return read(value);
}
