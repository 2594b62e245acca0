/** Finds what a conversion has no place for. */
import { isRecord, ownValue } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'

/** Members that switch something on by being there, even if empty. Elsewhere absent and empty mean the same. */
const SWITCHES = new Set([
  'classicFullStack',
  'cloudNativeFullStack',
  'applicationMonitoring',
  'hostMonitoring',
  'logMonitoring',
  'kspm',
  'extensions',
  'prometheus',
  'telemetryIngest',
  'metrics',
  'traces',
  'logs',
])

/**
 * Fields of the spec whose values do not survive the way to another version and back, the topmost of each branch.
 *
 * @example
 * lostFields(v1beta6, convert(convert(v1beta6, 'v1beta4'), 'v1beta6')) // ['spec.otlpExporterConfiguration']
 */
export function lostFields(before: KubeObject, after: KubeObject): readonly string[] {
  const lost: string[] = []
  compare('spec', specOf(before), specOf(after), '', lost)
  return lost
}

const specOf = (object: KubeObject): unknown => ('spec' in object ? object.spec : undefined)

function compare(name: string, before: unknown, after: unknown, parent: string, lost: string[]): void {
  if (saysNothing(name, before)) return
  const field = `${parent}${name}`
  if (isRecord(before) && isRecord(after)) {
    for (const [member, value] of Object.entries(before)) {
      compare(member, value, ownValue(after, member), `${field}.`, lost)
    }
  } else if (JSON.stringify(before) !== JSON.stringify(after)) lost.push(field)
}

function saysNothing(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (!isRecord(value) || SWITCHES.has(name)) return false
  return Object.entries(value).every(([member, inner]) => saysNothing(member, inner))
}
