/** Builders of small objects for tests. */
import { type KubeObject, type ObjectMeta, type Resource, resource } from '@reeve/kube'

/** A made-up kind, namespaced. */
export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number }
  readonly status?: { readonly phase?: string }
}

export const Widgets: Resource<Widget> = resource<Widget>({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
})

/** A made-up kind that widgets own. */
export const Gadgets: Resource<Widget> = resource<Widget>({
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
})

export function widget(name: string, size = 1, metadata: ObjectMeta = {}): Widget {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { namespace: 'ns', name, ...metadata },
    spec: { size },
  }
}

export function gadget(name: string, size = 1, metadata: ObjectMeta = {}): Widget {
  return { ...widget(name, size, metadata), kind: 'Gadget' }
}
