/** Looks at what a chart renders before any of it is applied: what leaves the namespace of the release is refused. */
import { type ReleaseKey, readManifest } from '@reeve/helm'
import { type KubeClient, type RequestOptions, UnknownKindError, type UnknownObject } from '@reeve/kube'
import { enumerate } from './enumerate.ts'

/** A manifest, and where it comes from. */
export interface ManifestPart {
  readonly kind: 'manifest' | 'hook' | 'crds folder'
  readonly text: string
}

/** What is looked at, and how. */
export interface ObjectCheck {
  readonly release: ReleaseKey
  /** Kinds that may leave the namespace, or belong to the whole cluster: `Kind`, or `Kind.group`. */
  readonly allowedKinds: readonly string[]
  readonly client: Pick<KubeClient, 'resourceFor'>
  readonly options: RequestOptions
}

/** Names in a manifest may be of any length. */
const MAX_NAME_LENGTH = 63

/** A chart renders objects that it may not. The message names them. */
export class ObjectsNotAllowedError extends Error {
  override readonly name = 'ObjectsNotAllowedError'
  readonly code = 'OBJECT_NOT_ALLOWED'
}

/**
 * Checks everything that Helm would apply. The rights of the account are the fence; this tells what is wrong before
 * anything is half done, and holds where an account may do more than it should.
 *
 * *Errors*: {@link ObjectsNotAllowedError}.
 *
 * @example
 * await checkObjects([{ kind: 'manifest', text: release.manifest }], { release, allowedKinds: [], client, options })
 */
export async function checkObjects(parts: readonly ManifestPart[], check: ObjectCheck): Promise<void> {
  const problems: string[] = []
  for (const { kind, text } of parts) {
    const { objects, problems: unreadable } = readManifest(text)
    problems.push(...unreadable.map((problem) => `the ${kind} cannot be checked: ${problem}`))
    for (const object of objects) {
      const problem = await objectProblem(object, check)
      if (problem !== undefined) problems.push(kind === 'manifest' ? problem : `${problem} (in a ${kind})`)
    }
  }
  if (problems.length === 0) return
  throw new ObjectsNotAllowedError(
    `the chart renders what a release in "${check.release.namespace}" may not contain: ${enumerate(problems, '; ')}; ` +
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
    if (!namespaced) return `${what}, which belongs to the whole cluster`
    return namespace === undefined || namespace === release.namespace ? undefined : `${what}, in another namespace`
  } catch (error) {
    if (error instanceof UnknownKindError) return `${what}, of a kind that the cluster does not have`
    throw error
  }
}

function shorten(text: string): string {
  // What is printed by terminals and logs stays on its line.
  const printable = text.replace(/[^ -~]/g, '?')
  return printable.length > MAX_NAME_LENGTH ? `${printable.slice(0, MAX_NAME_LENGTH)}…` : printable
}
