/** Parts of Observable Plot that are used; the rest stays out of the bundle. */
export { dot, plot, ruleX, ruleY } from '@observablehq/plot';
