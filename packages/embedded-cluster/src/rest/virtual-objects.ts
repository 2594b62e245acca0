/** Objects that are not stored: reviews, bindings, token requests, options of a connection. */
import { trackUpdate } from '../apply/track.ts'
import { builtinMessageTypes } from '../builtin/messages.ts'
import { toTypedForm } from '../builtin/typed-form.ts'
import type { JsonObject } from '../json.ts'
import { apiVersionOf } from '../registry/resource-info.ts'
import { admitMutating, admitValidating } from './admit.ts'
import type { WriteRequest } from './context.ts'
import type { ServerContext } from './server-context.ts'

/** A kind that is not a resource. */
export interface VirtualKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** `object`, a draft of `kind`, in its typed form and with managedFields of its sender. */
export function trackVirtual(
  context: ServerContext,
  request: WriteRequest,
  kind: VirtualKind,
  object: JsonObject,
): JsonObject {
  const apiVersion = apiVersionOf(kind)
  const type = builtinMessageTypes().ofKind(apiVersion, kind.kind)
  if (type !== undefined) toTypedForm(type, object)
  return trackUpdate({
    schema: context.schemaOf(kind),
    apiVersion,
    live: undefined,
    updated: object,
    manager: request.fieldManager,
    subresource: request.subresource,
    now: context.clock.now(),
  })
}

/** Runs admission on an object that is not stored; resolves to the admitted object. */
export async function admitVirtual(
  context: ServerContext,
  request: WriteRequest,
  object: JsonObject,
): Promise<JsonObject> {
  const step = { operation: 'CREATE', object, oldObject: undefined } as const
  const admitted = await admitMutating(context, request, step)
  await admitValidating(context, request, { ...step, object: admitted })
  return admitted
}

/** Runs admission on a connection to a pod. */
export async function admitConnection(
  context: ServerContext,
  request: WriteRequest,
  query: URLSearchParams,
): Promise<void> {
  const step = { operation: 'CONNECT', object: connectOptions(request, query), oldObject: undefined } as const
  await admitMutating(context, request, step)
  await admitValidating(context, request, step)
}

/** The parameters of a connection as an object for admission. */
function connectOptions({ info, subresource }: WriteRequest, query: URLSearchParams): JsonObject {
  const kind = info.subresources.find(({ name }) => name === subresource)?.kind ?? info.kind
  const flags = ['stdin', 'stdout', 'stderr', 'tty'].filter((flag) => /^(1|true)$/.test(query.get(flag) ?? ''))
  const container = query.get('container') ?? ''
  const command = query.getAll('command')
  const ports = query.getAll('ports').map(Number)
  return {
    kind,
    apiVersion: 'v1',
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
    ...(container !== '' && { container }),
    ...(command.length > 0 && { command }),
    ...(ports.length > 0 && { ports }),
  }
}
