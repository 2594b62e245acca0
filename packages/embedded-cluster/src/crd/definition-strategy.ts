/** How the server treats CustomResourceDefinitions themselves: defaults, status, checks, deletion. */
import type { KindStrategy } from '../builtin/kind-strategy.ts'
import { defaultDefinition, recordStoredVersions, startStatus } from './definition-defaults.ts'
import { markForDeletion } from './definition-status.ts'
import { validateDefinition } from './validate-definition.ts'

/** The strategy of the kind CustomResourceDefinition. */
export const definitionStrategy: KindStrategy = {
  generation: ['spec'],
  default: defaultDefinition,
  prepareForCreate: startStatus,
  prepareForUpdate: recordStoredVersions,
  validate: validateDefinition,
  prepareForDelete: (object, context) => markForDeletion(object, context.clock.now()),
}
