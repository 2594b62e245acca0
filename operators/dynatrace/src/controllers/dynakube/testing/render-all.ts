/** Renders all components without a cluster, each with the failures of those that it needs, as the engine does. */
import type { DesiredObject } from '@reeve/runtime'
import { withTemplateHash } from '../../rendering/template-hash.ts'
import { COMPONENTS } from '../components.ts'
import type { AnyDynaKubeComponent } from '../dynakube-component.ts'
import { rendered as renderedBy, type TestInput } from './render-input.ts'

/** A component with what became of it. */
export interface Rendered {
  readonly component: AnyDynaKubeComponent
  /** Empty when it is switched off or could not be worked out. */
  readonly objects: readonly DesiredObject[]
  /** Why it could not be worked out: its objects are then left as they are. */
  readonly failure?: Error
}

/**
 * Renders the objects of a DynaKube.
 *
 * @param isHeld components that are not rendered
 *
 * @example
 * const objects = renderDynaKube(input).flatMap(({ objects }) => objects)
 */
export function renderDynaKube(
  input: TestInput,
  isHeld: (component: AnyDynaKubeComponent) => Error | undefined = () => undefined,
): readonly Rendered[] {
  const failures = new Map<AnyDynaKubeComponent, Error>()
  return COMPONENTS.map((component) => {
    const rendered = renderOne(component, input, isHeld(component), failures)
    if (rendered.failure !== undefined) failures.set(component, rendered.failure)
    return rendered
  })
}

function renderOne(
  component: AnyDynaKubeComponent,
  input: TestInput,
  held: Error | undefined,
  failures: ReadonlyMap<AnyDynaKubeComponent, Error>,
): Rendered {
  if (held !== undefined) return { component, objects: [], failure: held }
  try {
    if (!(component.isEnabled?.(input.primary, input.dependencies) ?? true)) return { component, objects: [] }
    const objects = renderedBy(component, input).map(withTemplateHash)
    const [lacking] = component.needs?.flatMap((need) => failures.get(need) ?? []) ?? []
    // What is switched off lacks nothing, and goes.
    if (lacking !== undefined && objects.length > 0) return { component, objects: [], failure: lacking }
    return { component, objects }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { component, objects: [], failure: error }
  }
}
