/** The objects of a collection that a list or watch selects. */

import { type LabelMatcher, parseLabelSelector } from '../api/label-selector.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { StoredObject } from '../store/stored-object.ts'
import { type FieldRequirement, matchesFields, parseFieldSelector } from './field-selector.ts'

/** A namespace and parsed selectors. */
export class Selection {
  /** Prefix of the keys of the namespace; empty for all namespaces. */
  readonly prefix: string
  readonly #labels: LabelMatcher | undefined
  readonly #fields: readonly FieldRequirement[]

  constructor(prefix: string, labels: LabelMatcher | undefined, fields: readonly FieldRequirement[]) {
    this.prefix = prefix
    this.#labels = labels
    this.#fields = fields
  }

  /** Parses `labelSelector` and `fieldSelector`; throws 400 for invalid ones. */
  static parse(info: ResourceInfo, namespace: string | undefined, query: URLSearchParams, name?: string): Selection {
    const labels = query.get('labelSelector') ?? ''
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '', info)
    const pinned = name === undefined ? fields : [...fields, { field: 'metadata.name', value: name, negated: false }]
    const prefix = namespace === undefined ? '' : `${namespace}/`
    return new Selection(prefix, labels === '' ? undefined : parseLabelSelector(labels), pinned)
  }

  /** Whether there are selectors besides the namespace. */
  get isFiltered(): boolean {
    return this.#labels !== undefined || this.#fields.length > 0
  }

  matches(stored: StoredObject): boolean {
    if (!stored.key.startsWith(this.prefix)) return false
    return this.#matchesLabels(stored.object) && matchesFields(stored.object, this.#fields)
  }

  #matchesLabels(object: JsonObject): boolean {
    if (this.#labels === undefined) return true
    const labels = isJsonObject(object.metadata) ? object.metadata.labels : undefined
    return this.#labels(isJsonObject(labels) ? labels : {})
  }
}
