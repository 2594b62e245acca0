/** Finds the field that a finding is about, for tools that point at it. */
import { isRecord, ownValue } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'

const PATH = /\b(?:([A-Za-z]+) of )?((?:spec|metadata|status)\b(?:\.[A-Za-z]+|\[[^\]]*\])*)/
const ANNOTATION = /\bannotation (\S+)/

/**
 * The field that a message names first, or `undefined` when it names none. "args of spec.oneAgent" is looked up in the
 * object as written, to find which of the modes has them.
 *
 * @example
 * fieldInMessage('spec.apiUrl: "x" is not a valid tenant URL', dynakube) // 'spec.apiUrl'
 */
export function fieldInMessage(message: string, object: KubeObject): string | undefined {
  const [, member, path] = PATH.exec(message) ?? []
  if (path === undefined) {
    const [, annotation] = ANNOTATION.exec(message) ?? []
    return annotation && `metadata.annotations[${annotation}]`
  }
  if (member === undefined) return path
  const parent = path
    .split('.')
    .reduce<unknown>((node, name) => (isRecord(node) ? ownValue(node, name) : undefined), object)
  if (!isRecord(parent)) return path
  if (Object.hasOwn(parent, member)) return `${path}.${member}`
  const owner = Object.keys(parent).find((name) => isRecord(parent[name]) && Object.hasOwn(parent[name], member))
  return owner === undefined ? path : `${path}.${owner}.${member}`
}
