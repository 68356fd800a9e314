/** A chart of named rows, each with estimates and their intervals. */
import type { PlotOptions } from '@observablehq/plot';
import type { Draw, Plot } from '../parts/chart.js';

/** One estimate; no interval where none is known. */
export interface Mark {
  readonly row: number;
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Estimates of one kind, drawn alike. */
export interface Series {
  /** A colour of the style sheet, such as --blend. */
  readonly colour: string;
  readonly marks: readonly Mark[];
  readonly symbol?: 'circle' | 'diamond' | 'square' | 'triangle';
}

export interface RowsChart {
  readonly names: readonly string[];
  readonly series: readonly Series[];
  readonly axis: string;
  readonly tick: (value: number) => string;
  /** Whether series lie one under another in each row; else each row has one of them. */
  readonly areApart?: boolean;
  /** Whether values may be on either side of zero. */
  readonly hasZero?: boolean;
}

const APART = 6;
const NARROW = 520;
/** Letters about twice as wide as others: of East Asia, emoji, and capitals like W. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60MW@%]/u;

/** Returns how rows are drawn, the names to the left, as short as the width asks for. */
export function drawRows(chart: RowsChart): Draw {
  return (plot, width) => {
    const letters = width < NARROW ? 14 : 28;
    const step = chart.areApart === false ? 0 : APART;
    const height = Math.max(chart.series.length * step + 8, 20);
    const options: PlotOptions = {
      width,
      height: chart.names.length * height + 60,
      marginLeft: letters * 6.6 + 14,
      marginRight: 24,
      marginTop: 34,
      marginBottom: 14,
      x: {
        label: chart.axis,
        axis: 'top',
        grid: true,
        tickFormat: chart.tick,
        ticks: Math.max(Math.floor((width - letters * 7) / 90), 2),
        nice: true,
        zero: true,
      },
      y: {
        label: null,
        domain: chart.names.map((_, row) => row),
        tickFormat: (row: number) => fitted(chart.names[row] ?? '', letters),
        tickSize: 0,
        type: 'band',
        padding: 0.1,
      },
      marks: [
        ...(chart.hasZero ? [plot.ruleX([0], { stroke: 'var(--line-strong)' })] : []),
        ...chart.series.flatMap((series, at) =>
          seriesMarks(plot, series, (at - (chart.series.length - 1) / 2) * step),
        ),
      ],
    };
    return options;
  };
}

function seriesMarks(plot: Plot, { colour, marks, symbol }: Series, dy: number) {
  const paint = `var(${colour})`;
  const sure = marks.filter(({ low, high }) => low !== null && high !== null);
  const bare = marks.filter(({ low }) => low === null);
  const whiskers = { y: 'row', x1: 'low', x2: 'high', stroke: paint, strokeWidth: 2, dy };
  const dots = { y: 'row', x: 'value', symbol: symbol ?? 'circle', r: 3.4, dy } as const;
  return [
    plot.ruleY(sure, { ...whiskers, strokeOpacity: 0.55 }),
    plot.dot(sure, { ...dots, fill: paint }),
    // An estimate without an interval is hollow: it may be far off.
    plot.dot(bare, { ...dots, fill: 'var(--surface)', stroke: paint }),
  ];
}

/** Returns a name cut to the room beside the axis: wide letters take more of it. */
export function fitted(text: string, letters: number): string {
  const taken = Array.from(text, (letter) => (WIDE.test(letter) ? 1.9 : 1));
  let most = 0;
  for (let room = letters; most < taken.length && room >= (taken[most] ?? 1); most++) {
    room -= taken[most] ?? 1;
  }
  return shortened(text, most);
}

export function shortened(text: string, most: number): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}
