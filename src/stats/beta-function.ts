/**
 * The regularised incomplete beta function I_x(a, b): the probability that a Beta(a, b) variable is at most x.
 *
 * Continued fraction, evaluated from the side on which it converges fast; about 14 digits for a and b up to 10⁵.
 *
 * @param x - in [0, 1]; outside of it the value at the nearer end
 * @param a - positive
 * @param b - positive
 * @throws RangeError when a or b is not positive
 * @see DLMF 8.17.22; Lentz's method as in Thompson and Barnett, J. Comput. Phys. 64 (1986) 490–509
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (!(a > 0) || !(b > 0)) throw new RangeError(`incompleteBeta: Beta(${a}, ${b}) is no distribution`)
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - lnBeta(a, b))
  if (x < (a + 1) / (a + b + 2)) return (front * continuedFraction(x, a, b)) / a
  return 1 - (front * continuedFraction(1 - x, b, a)) / b
}

/**
 * The quantile of Beta(a, b): the x for which {@link incompleteBeta} is `probability`.
 *
 * By halving until two neighbouring floating-point numbers are left, so that it can neither overshoot nor fail to converge.
 */
export function betaQuantile(probability: number, a: number, b: number): number {
  if (probability <= 0) return 0
  if (probability >= 1) return 1
  let low = 0
  let high = 1
  for (;;) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high || high - low < 1e-15) return middle
    if (incompleteBeta(middle, a, b) < probability) low = middle
    else high = middle
  }
}

/** ln B(a, b), both positive. */
export function lnBeta(a: number, b: number): number {
  return lnGamma(a) + lnGamma(b) - lnGamma(a + b)
}

/** ln C(n, k): in how many ways k of n can be chosen. */
export function lnChoose(n: number, k: number): number {
  return lnGamma(n + 1) - lnGamma(k + 1) - lnGamma(n - k + 1)
}

/**
 * ln Γ(x) for x > 0, about 15 digits.
 *
 * @see Lanczos, SIAM J. Numer. Anal. 1 (1964) 86–96; coefficients for g = 7, nine terms, by Godfrey
 */
export function lnGamma(x: number): number {
  if (!(x > 0)) throw new RangeError(`lnGamma: ${x} is not positive`)
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x)
  let sum = lanczos[0] ?? 1
  for (let i = 1; i < lanczos.length; i++) sum += (lanczos[i] ?? 0) / (x - 1 + i)
  const shifted = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(shifted) - shifted + Math.log(sum)
}

const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

function continuedFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value)
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let value = d
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    value *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    value *= d * c
    if (Math.abs(d * c - 1) < 1e-15) return value
  }
  throw new RangeError(`incompleteBeta: no convergence for Beta(${a}, ${b}) at ${x}`)
}
