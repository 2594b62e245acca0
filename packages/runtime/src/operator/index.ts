/**
 * @module The front door in full: operators, their parts, and the roles they need.
 *
 * Words: an author writes a *definition* of an operator and of each controller. A *description* is the definition of a
 * controller worked out: a `Controller` is made with it, roles and plans follow from it. The *frame* is an operator without
 * controllers and webhooks: manager, cache and events. The *environment* of a controller is what it takes from the frame.
 */

export { watch } from '../controller/sources.ts'
export { type DetachOptions, detachCrds, withoutConversion } from '../crds/detach-crds.ts'
export type * from './add-webhooks.ts'
export * from './controller-definition.ts'
export * from './define-operator.ts'
export type { DescribedController } from './describe-controller.ts'
export type * from './operator-frame.ts'
export type * from './operator-observer.ts'
export type * from './operator-view.ts'
export { type ExtraRule, missingRights, type RbacOptions, type RbacRoles } from './rbac.ts'
export * from './webhook-manifests.ts'
