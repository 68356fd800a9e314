/** What is used of Observable Plot, so that the rest of it stays out of the bundle. */
export { dot, plot, ruleX, ruleY } from '@observablehq/plot';
