/** What an operator shows of its own subject in a console, besides resources and reconciles: plain values, no markup. */
import type { KubeClient } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'

/** How a value is to be understood; shown with a colour and a word or sign. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral'

/** One value of a table or list. Texts must not contain secrets. */
export interface ViewCell {
  readonly text: string
  /** @default 'neutral' */
  readonly tone?: Tone
  /** More about it, such as the reason of a failure. */
  readonly detail?: string
}

/** A table: the cells of a row are in the order of the columns. */
export interface ViewTable {
  readonly type: 'table'
  readonly title: string
  /** Shown when there are no rows. */
  readonly empty: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (ViewCell | string)[])[]
}

/** Named values. */
export interface ViewFacts {
  readonly type: 'facts'
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: ViewCell | string])[]
}

/** A part of a view. */
export type ViewSection = ViewTable | ViewFacts

/** What a view is read from. It must not write. */
export interface ViewSource {
  readonly client: KubeClient
  readonly cache: CacheReader
  readonly signal: AbortSignal
}

/** A page of a console about the subject of an operator. */
export interface OperatorView {
  /** Part of its address, such as `tenants`. */
  readonly id: string
  readonly title: string
  /** The sections as they are now. Called when somebody looks at the page. */
  read(source: ViewSource): Promise<readonly ViewSection[]>
}
