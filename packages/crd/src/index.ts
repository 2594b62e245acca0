/** @module Author a CustomResourceDefinition once: type, schema, YAML, versions, conversion and clients. */
export { applyDefaults } from './apply-defaults.ts'
export { type ConditionEntry, conditions } from './conditions.ts'
export { type Convert, defineConversion, type Spoke, type Spokes } from './conversion.ts'
export { CrdError } from './crd-error.ts'
export {
  type AnyCrd,
  type Crd,
  type CrdDefinition,
  defineCrd,
  type KnownKeys,
  type ObjectOf,
  type PrinterColumn,
  type ScalePaths,
  type VersionDefinition,
} from './definition.ts'
export {
  anyValue,
  type FieldOptions,
  intOrString,
  listMap,
  listSet,
  oneOf,
  openObject,
  quantity,
  withRules,
} from './fields.ts'
export {
  type ConversionWebhook,
  type CrdManifest,
  crdManifest,
  crdYaml,
  type ManifestOptions,
  objectSchema,
} from './manifest.ts'
export type { StructuralSchema, ValidationRule } from './structural-schema.ts'
export { toStructural } from './to-structural.ts'
export { type Problem, validate } from './validate.ts'
