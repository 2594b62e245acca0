/** Reports on a DynaKube without an engine. */
import type { Clock } from '@reeve/http'
import type { Stored } from '@reeve/kube'
import { Reporter } from '@reeve/runtime'
import type { DynaKube } from '../../../api/latest.ts'
import type { DynaKubeReporter } from '../dynakube-component.ts'

/** A reporter on a DynaKube that no engine reconciles. */
export const reporterOf = (dynakube: DynaKube, clock: Pick<Clock, 'now'> = { now: () => 0 }): DynaKubeReporter =>
  // Nothing that a server adds is read.
  new Reporter(dynakube as Stored<DynaKube>, clock)
