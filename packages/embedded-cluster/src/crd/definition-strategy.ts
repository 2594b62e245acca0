/** How the server treats CustomResourceDefinitions themselves: defaults, status, checks, deletion. */
import type { KindStrategy, StrategyContext } from '../builtin/kind-strategy.ts'
import type { JsonObject } from '../json.ts'
import { defaultDefinition, recordStoredVersions, startStatus } from './definition-defaults.ts'
import { markForDeletion } from './definition-status.ts'
import { validateDefinition } from './validate-definition.ts'

/** The strategy of the kind CustomResourceDefinition. */
export const definitionStrategy: KindStrategy & {
  /** The state in which a definition waits for its instances to go. */
  prepareForDelete(object: JsonObject, context: Pick<StrategyContext, 'clock'>): JsonObject
} = {
  generation: ['spec'],
  default: defaultDefinition,
  prepareForCreate: startStatus,
  prepareForUpdate: recordStoredVersions,
  validate: validateDefinition,
  prepareForDelete: (object, context) => markForDeletion(object, context.clock.now()),
}
