/** Checks what a chart renders before any of it is applied: objects outside of the release namespace are rejected. */
import { type ReleaseKey, readManifests } from '@reeve/helm'
import { type KubeClient, type RequestOptions, UnknownKindError, type UnknownObject } from '@reeve/kube'
import { enumerate } from './enumerate.ts'

/** A manifest, and where it comes from. */
export interface ManifestPart {
  readonly kind: 'manifest' | 'hook' | 'crds folder'
  readonly text: string
}

/** What is checked, and how. */
export interface ObjectCheck {
  readonly release: ReleaseKey
  /** Kinds that may be outside of the namespace, or cluster-scoped: `Kind`, or `Kind.group`. */
  readonly allowedKinds: readonly string[]
  readonly client: Pick<KubeClient, 'resourceFor'>
  readonly options: RequestOptions
}

/** Names in a manifest may have any length. */
const MAX_NAME_LENGTH = 63

/** A chart renders objects that are not allowed. The message names them. */
export class ObjectsNotAllowedError extends Error {
  override readonly name = 'ObjectsNotAllowedError'
  readonly code = 'OBJECT_NOT_ALLOWED'
}

/**
 * Checks everything that Helm would apply. The rights of the account are the actual limit; this reports problems before
 * anything is half done, and still limits accounts that have too many rights.
 *
 * *Errors*: {@link ObjectsNotAllowedError}.
 *
 * @example
 * await checkObjects([{ kind: 'manifest', text: release.manifest }], { release, allowedKinds: [], client, options })
 */
export async function checkObjects(parts: readonly ManifestPart[], check: ObjectCheck): Promise<void> {
  const problems: string[] = []
  // Within the limits of one manifest: a chart may have any number of hooks.
  for (const [index, { objects, problems: unreadable }] of readManifests(parts.map(({ text }) => text)).entries()) {
    const kind = parts[index]?.kind ?? 'manifest'
    problems.push(...unreadable.map((problem) => `the ${kind} cannot be checked: ${problem}`))
    for (const object of objects) {
      const problem = await objectProblem(object, check)
      if (problem !== undefined) problems.push(kind === 'manifest' ? problem : `${problem} (in a ${kind})`)
    }
  }
  if (problems.length === 0) return
  throw new ObjectsNotAllowedError(
    `the chart renders objects that are not allowed in a release in "${check.release.namespace}": ${enumerate(problems, '; ')}; ` +
      'change the chart or its values, or ask the administrator for allowedKinds',
  )
}

async function objectProblem(object: UnknownObject, check: ObjectCheck): Promise<string | undefined> {
  const { allowedKinds, client, options, release } = check
  const group = object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : ''
  if (allowedKinds.includes(group === '' ? object.kind : `${object.kind}.${group}`)) return undefined
  const { namespace, name, generateName = '' } = object.metadata
  const what = `${shorten(object.kind)} ${namespace === undefined ? '' : `${shorten(namespace)}/`}${shorten(name ?? generateName)}`
  try {
    const { namespaced } = await client.resourceFor(object, options)
    if (!namespaced) return `${what}, which is cluster-scoped`
    return namespace === undefined || namespace === release.namespace ? undefined : `${what}, in another namespace`
  } catch (error) {
    if (error instanceof UnknownKindError) return `${what}, of a kind that the cluster does not have`
    throw error
  }
}

function shorten(text: string): string {
  // No line breaks or control characters in conditions and logs.
  const printable = text.replace(/[^ -~]/g, '?')
  return printable.length > MAX_NAME_LENGTH ? `${printable.slice(0, MAX_NAME_LENGTH)}…` : printable
}
