/** The log of a container: selection of the container and of lines. */

import { badRequest, invalid, notFound } from '../api/api-errors.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { WriteRequest } from './context.ts'
import { parseInteger } from './list.ts'
import { isTrue } from './request-info.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceCall, SubresourceResult } from './subresources.ts'

/** Lines of a container's log, from the simulated kubelet. */
export async function readLog(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const { info, name = '', namespace, signal } = request
  const pod = context.store.get('pods', `${namespace}/${name}`)?.object
  if (pod === undefined) throw notFound(info, name)
  const { sinceSeconds, sinceTime, tailLines, limitBytes } = readOptions(name, call.query)
  const container = chooseContainer(name, objectAt(pod, 'spec'), call.query.get('container') ?? '')
  if ((stringAt(objectAt(pod, 'spec'), 'nodeName') ?? '') === '') return { isEmpty: true }
  requireStarted(name, pod, container)
  return {
    text: context.podLogs(pod, {
      container,
      follow: isTrue(call.query.get('follow')),
      previous: isTrue(call.query.get('previous')),
      tailLines,
      limitBytes,
      timestamps: isTrue(call.query.get('timestamps')),
      sinceTime:
        sinceSeconds !== undefined
          ? context.clock.now() - sinceSeconds * 1000
          : sinceTime === undefined
            ? undefined
            : Date.parse(sinceTime),
      signal,
    }),
  }
}

/** A container that never started has no log; the kubelet reports this to the real server. */
function requireStarted(name: string, pod: JsonObject, container: string): void {
  const status = objectAt(pod, 'status')
  const statuses = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
    .flatMap((field) => arrayAt(status, field))
    .filter(isJsonObject)
  const found = statuses.find((entry) => entry.name === container)
  const waiting = objectAt(objectAt(found, 'state'), 'waiting')
  const hasRun = isJsonObject(objectAt(found, 'lastState').terminated)
  if (waiting.reason === undefined || hasRun) return
  throw badRequest(
    `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} is waiting to start: ${String(waiting.reason)}`,
  )
}

/** The container of a request: the one it names, or the only one. */
export function chooseContainer(pod: string, spec: JsonObject, wanted: string): string {
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    arrayAt(spec, field).map((container) => (isJsonObject(container) ? String(container.name) : '')),
  )
  const main = arrayAt(spec, 'containers')
  if (wanted === '') {
    const [only] = main
    if (main.length === 1 && isJsonObject(only)) return String(only.name)
    const choice = main.map((container) => (isJsonObject(container) ? String(container.name) : '')).join(' ')
    throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${choice}]`)
  }
  if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${pod}`)
  return wanted
}

interface LogOptions {
  readonly sinceSeconds: number | undefined
  readonly sinceTime: string | undefined
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
}

function readOptions(name: string, query: URLSearchParams): LogOptions {
  const sinceSeconds = parseInteger(query.get('sinceSeconds'))
  const tailLines = parseInteger(query.get('tailLines'))
  const limitBytes = parseInteger(query.get('limitBytes'))
  const sinceTime = query.get('sinceTime') ?? undefined
  const errors: FieldError[] = []
  const addError = (field: string, value: number, why: string) => {
    errors.push({ field, reason: 'FieldValueInvalid', message: `Invalid value: ${value}: must be ${why}` })
  }
  if (tailLines !== undefined && tailLines < 0) addError('tailLines', tailLines, 'greater than or equal to 0')
  if (limitBytes !== undefined && limitBytes < 1) addError('limitBytes', limitBytes, 'greater than 0')
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    const message = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'
    errors.push({ field: '[]', reason: 'FieldValueForbidden', message })
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) addError('sinceSeconds', sinceSeconds, 'greater than 0')
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors)
  return { sinceSeconds, sinceTime, tailLines, limitBytes }
}
