/** The shapes of points: the request or event, and its object. */
import type { SeamEvent, SeamRequest } from '../world/disturbance.ts'
import type { Shape } from './pattern.ts'

/** Of a request; `variant` says what becomes of it. */
export function requestShape(request: SeamRequest, variant = ''): Shape {
  const { verb, resource, subresource, namespace, name, selector } = request
  const target = subresource === undefined ? resource : `${resource}/${subresource}`
  return { coarse: joined(verb, target, variant), fine: joined(namespace, name, selector) }
}

/** Of a watch event. */
export function eventShape({ type, resource, namespace, name }: SeamEvent, variant = ''): Shape {
  return { coarse: joined(type, resource, variant), fine: joined(namespace, name) }
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}
