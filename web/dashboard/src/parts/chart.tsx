/** Chart of Observable Plot, as wide as its place, without inline styles (the page's policy). */
import type { PlotOptions } from '@observablehq/plot';
import { useEffect, useRef, useState } from 'preact/hooks';

export type Plot = typeof import('../charts/plot-marks.js');
export type Draw = (plot: Plot, width: number) => PlotOptions;

interface ChartProps {
  /** What the chart shows, for those who do not see it; the same numbers stand in a table. */
  readonly label: string;
  readonly draw: Draw;
}

const FIRST_WIDTH = 640;
const LEAST_WIDTH = 200;

export function Chart({ label, draw }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(Math.floor(entry.contentRect.width), LEAST_WIDTH));
    });
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    let isWanted = true;
    // Charts come after the words: the library is the largest part of the pages.
    import('../charts/plot-marks.js').then((plot) => {
      if (isWanted) place.current?.replaceChildren(drawn(plot, draw(plot, width)));
    });
    return () => {
      isWanted = false;
    };
  }, [draw, width]);
  return <div class="chart" role="img" aria-label={label} ref={place} />;
}

function drawn(plot: Plot, options: PlotOptions): Element {
  const figure = plot.plot({ className: 'plot', ...options });
  // The page's policy forbids style elements; what this one says is in charts.css.
  for (const style of figure.querySelectorAll('style')) style.remove();
  figure.setAttribute('aria-hidden', 'true');
  return figure;
}
