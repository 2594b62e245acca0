/** Named formats such as `format.dns1123Label()`, and semantic versions. */

import { compareQuantities } from '../../api/quantity.ts'
import { matchesFormat } from '../../schema/formats.ts'
import { CelError } from '../cel-error.ts'
import { CelObject, CelOptional, type CelValue, celCompare } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'
import { CelQuantity } from './quantity.ts'

/** A named format. */
class CelFormat extends CelObject {
  override readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly problems: (text: string) => readonly string[]

  constructor(name: string, problems: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.problems = problems
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelFormat && other.name === this.name
  }
}

const dns1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

function byPattern(pattern: RegExp, maxLength: number): (text: string) => readonly string[] {
  return (text) => {
    const problems: string[] = []
    if (text.length > maxLength) problems.push(`must be no more than ${maxLength} characters`)
    if (!pattern.test(text)) problems.push(`must match ${pattern.source}`)
    return problems
  }
}

function prefix(check: (text: string) => readonly string[]): (text: string) => readonly string[] {
  return (text) => check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text)
}

function qualifiedName(text: string): readonly string[] {
  const [name = '', domain, ...rest] = text.split('/').reverse()
  const problems = [...byPattern(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/, 63)(name)]
  if (domain !== undefined) problems.push(...byPattern(subdomain, 253)(domain))
  return rest.length > 0 ? [...problems, 'a qualified name has one slash at most'] : problems
}

function bySchemaFormat(format: string): (text: string) => readonly string[] {
  return (text) => (matchesFormat(format, text) ? [] : [`must be of type ${format}`])
}

const formats: Readonly<Record<string, (text: string) => readonly string[]>> = {
  byte: bySchemaFormat('byte'),
  date: bySchemaFormat('date'),
  datetime: bySchemaFormat('date-time'),
  dns1035Label: byPattern(dns1035, 63),
  dns1035LabelPrefix: prefix(byPattern(dns1035, 63)),
  dns1123Label: byPattern(dns1123, 63),
  dns1123LabelPrefix: prefix(byPattern(dns1123, 63)),
  dns1123Subdomain: byPattern(subdomain, 253),
  dns1123SubdomainPrefix: prefix(byPattern(subdomain, 253)),
  labelValue: byPattern(labelValue, 63),
  qualifiedName,
  uri: bySchemaFormat('uri'),
  uuid: bySchemaFormat('uuid'),
}

/** Functions of the namespace `format`. */
export const formatFunctions: FunctionTable = {
  ...Object.fromEntries(
    Object.entries(formats).map(([name, problems]) => [
      `format.${name}`,
      celFunction('format', () => new CelFormat(name, problems)),
    ]),
  ),
  'format.named': celFunction('dyn', ([name]) => {
    if (typeof name !== 'string') return undefined
    const problems = Object.hasOwn(formats, name) ? formats[name] : undefined
    return new CelOptional(problems === undefined ? undefined : new CelFormat(name, problems))
  }),
}

/** A semantic version. */
class CelSemver extends CelObject {
  override readonly typeName = 'kubernetes.Semver'
  readonly parts: readonly [bigint, bigint, bigint]
  readonly prerelease: string

  constructor(parts: readonly [bigint, bigint, bigint], prerelease: string) {
    super()
    this.parts = parts
    this.prerelease = prerelease
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelSemver && compareSemver(this, other) === 0
  }
}

const semverPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/

/** Numbers of many digits take time to read. */
const MAX_VERSION_LENGTH = 1_000

function parseSemver(text: string): CelSemver | undefined {
  if (text.length > MAX_VERSION_LENGTH) return undefined
  const match = semverPattern.exec(text)
  if (match === null) return undefined
  return new CelSemver([BigInt(match[1] ?? 0), BigInt(match[2] ?? 0), BigInt(match[3] ?? 0)], match[4] ?? '')
}

function compareSemver(a: CelSemver, b: CelSemver): number {
  for (const index of [0, 1, 2] as const) {
    const order = celCompare(a.parts[index], b.parts[index]) ?? 0
    if (order !== 0) return order
  }
  if (a.prerelease === b.prerelease) return 0
  // A release is greater than its pre-releases.
  if (a.prerelease === '') return 1
  if (b.prerelease === '') return -1
  return comparePrerelease(a.prerelease.split('.'), b.prerelease.split('.'))
}

function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [left, right] = [a[index], b[index]]
    if (left === undefined) return -1
    if (right === undefined) return 1
    if (left === right) continue
    const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)]
    if (leftNumber && rightNumber) return Number(left) - Number(right)
    if (leftNumber !== rightNumber) return leftNumber ? -1 : 1
    return left < right ? -1 : 1
  }
  return 0
}

/** `semver` and `isSemver`. */
export const semverFunctions: FunctionTable = {
  isSemver: celFunction('bool', ([text]) => (typeof text === 'string' ? parseSemver(text) !== undefined : undefined)),
  semver: celFunction('semver', ([text]) => {
    if (typeof text !== 'string') return undefined
    const parsed = parseSemver(text)
    if (parsed === undefined) throw new CelError(`${JSON.stringify(text)} is not a semantic version`)
    return parsed
  }),
}

/** Methods of versions, of formats, and comparisons that versions share with quantities. */
export const comparisonMethods: FunctionTable = {
  compareTo: celFunction('int', ([a, b]) => {
    const order = compare(a, b)
    return order === undefined ? undefined : BigInt(Math.sign(order))
  }),
  isGreaterThan: comparison((order) => order > 0),
  isLessThan: comparison((order) => order < 0),
  major: semverPart(0),
  minor: semverPart(1),
  patch: semverPart(2),
  validate: celFunction('dyn', ([format, text]) => {
    if (!(format instanceof CelFormat) || typeof text !== 'string') return undefined
    const problems = format.problems(text)
    return new CelOptional(problems.length === 0 ? undefined : [...problems])
  }),
}

function compare(a: CelValue | undefined, b: CelValue | undefined): number | undefined {
  if (a instanceof CelSemver && b instanceof CelSemver) return compareSemver(a, b)
  if (a instanceof CelQuantity && b instanceof CelQuantity) return compareQuantities(a.amount, b.amount)
  return undefined
}

function comparison(test: (order: number) => boolean): CelFunction {
  return celFunction('bool', ([a, b]) => {
    const order = compare(a, b)
    return order === undefined ? undefined : test(order)
  })
}

function semverPart(index: 0 | 1 | 2): CelFunction {
  return celFunction('int', ([version]) => (version instanceof CelSemver ? version.parts[index] : undefined))
}
