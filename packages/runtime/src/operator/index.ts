/** @module The front door in full: operators, their parts, and the roles they need. */

export { watch } from '../controller/sources.ts'
export { type DetachOptions, detachCrds, withoutConversion } from '../crds/detach-crds.ts'
export * from './add-webhooks.ts'
export * from './controller-definition.ts'
export type { DescribedController } from './controller-settings.ts'
export * from './define-operator.ts'
export * from './operator-frame.ts'
export type * from './operator-observer.ts'
export type * from './operator-view.ts'
export { type ExtraRule, missingRights, type RbacOptions, type RbacRoles } from './rbac.ts'
export * from './webhook-manifests.ts'
