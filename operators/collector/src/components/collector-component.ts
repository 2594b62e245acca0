/** What the components of a Collector have in common. */
import type { Component } from '@reeve/runtime/components'
import type { Collector } from '../api/collector.ts'
import type { CollectorDependencies } from '../release/collector-context.ts'

/** A component of a Collector. */
export type CollectorComponent<Facts> = Component<Collector, Facts, CollectorDependencies>
