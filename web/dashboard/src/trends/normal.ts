/** The normal distribution, to thirteen digits. */

/** Returns the probability that a standard normal variable exceeds `z`. */
export function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return z < 3 ? 0.5 - density * bodySeries(z) : density * tailFraction(z);
}

/** Returns what a standard normal variable exceeds with probability `level`. */
export function criticalValue(level: number): number {
  let [low, high] = [-40, 40];
  for (let middle = 0; high - low > 1e-14 * Math.max(1, Math.abs(low)); ) {
    middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (upperTail(middle) > level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Returns (Φ(z) − 1/2)/φ(z) = z + z³/3 + z⁵/(3·5) + … */
function bodySeries(z: number): number {
  let [sum, term] = [z, z];
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return sum;
}

/** Returns (1 − Φ(z))/φ(z) = 1/(z + 1/(z + 2/(z + 3/(z + …)))), from far enough inside. */
function tailFraction(z: number): number {
  let inner = z;
  for (let depth = 200; depth > 0; depth--) inner = z + depth / inner;
  return 1 / inner;
}
