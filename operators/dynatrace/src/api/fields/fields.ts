/** The types of fields that the resources consist of; each takes the text that `kubectl explain` shows. */
import { type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

/** Text that may be left out. */
export const text = (description: string, more: object = {}) => Type.Optional(requiredText(description, more))

/** Text that must be given. */
export const requiredText = (description: string, more: object = {}) => Type.String({ description, ...more })

/** A boolean that may be left out. */
export const flag = (description: string, more: object = {}) => Type.Optional(Type.Boolean({ description, ...more }))

/** A whole number of 32 bits. */
export const int32 = (description: string) => Type.Optional(requiredInt32(description))

/** A whole number of 32 bits that must be given. */
export const requiredInt32 = (description: string) => Type.Integer({ format: 'int32', description })

/** A whole number of 64 bits. */
export const int64 = (description: string, more: object = {}) =>
  Type.Optional(Type.Integer({ format: 'int64', description, ...more }))

/** A point in time in RFC 3339. */
export const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

/** Texts by key, such as labels. */
export const textMap = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.String(), { description }))

/** A list of texts. */
export const textList = (description: string) => list(Type.String(), description)

/** An atomic list of texts. */
export const atomicTextList = (description: string) => atomicList(Type.String(), description)

/** A list. */
export const list = <T extends TSchema>(items: T, description: string) =>
  Type.Optional(Type.Array(items, { description }))

/** An atomic list: server-side apply replaces it as a whole. */
export const atomicList = <T extends TSchema>(items: T, description: string) =>
  Type.Optional(requiredAtomicList(items, description))

/** An atomic list that must be given. */
export const requiredAtomicList = <T extends TSchema>(items: T, description: string) =>
  Type.Array(items, { description, 'x-kubernetes-list-type': 'atomic' })

/** A group of fields. */
export const group = <T extends TProperties>(properties: T, description: string) =>
  Type.Optional(requiredGroup(properties, description))

/** A group of fields that must be given. */
export const requiredGroup = <T extends TProperties>(properties: T, description: string) =>
  Type.Object(properties, { description })

/** An atomic group of fields: server-side apply replaces it as a whole. */
export const atomicGroup = <T extends TProperties>(properties: T, description: string) =>
  Type.Optional(requiredAtomicGroup(properties, description))

/** An atomic group that must be given. */
export const requiredAtomicGroup = <T extends TProperties>(properties: T, description: string) =>
  Type.Object(properties, { description, 'x-kubernetes-map-type': 'atomic' })

/** An object without fields whose presence enables something. */
export const presence = (description: string): TOptional<TUnsafe<Record<string, never>>> =>
  Type.Optional(Type.Unsafe<Record<string, never>>({ type: 'object', description }))

/** A group of fields for which `null` means absent. */
export const nullableGroup = <T extends TProperties>(properties: T, description: string) =>
  Type.Optional(Type.Union([Type.Object(properties), Type.Null()], { description }))

/** Text for which `null` means absent. */
const nullableText = (description: string) => Type.Optional(Type.Union([Type.String(), Type.Null()], { description }))

/** An inline value, or a Secret whose `key` has it. */
export const valueSource = (description: string, key: string) =>
  group(
    {
      value: nullableText('The value itself; wins over valueFrom.'),
      valueFrom: nullableText(`Name of a Secret in the same namespace that has it under the key ${key}.`),
    },
    description,
  )

/** The members of a version status. */
export const versionStatusFields = {
  source: text('Where it comes from: tenant-registry, public-registry, custom-image or custom-version.'),
  imageID: text('The image in use.'),
  version: text('The version in use; custom-image when only the image knows it.'),
  type: text('Type of the image; no longer written.'),
  lastProbeTimestamp: time('When the version was last looked up.'),
}

/** A version status. */
export const versionStatus = (component: string) => group(versionStatusFields, `The version of ${component} in use.`)
