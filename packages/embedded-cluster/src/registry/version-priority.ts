/** Kubernetes' order of API versions: GA before beta before alpha, newer numbers first, everything else last. */

const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/
const stages: Readonly<Record<string, number>> = { ga: 2, beta: 1, alpha: 0 }

/** Sorts version names, most preferred first. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}

function rank(version: string): readonly number[] | undefined {
  const match = pattern.exec(version)
  if (match === null) return undefined
  const [, major, stage, minor] = match
  return [stages[stage ?? 'ga'] ?? 0, Number(major), Number(minor ?? 0)]
}
