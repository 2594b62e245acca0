/** Faults that users meet, each with what `troubleshoot` has to say about it. */
import { DYNAKUBE_FAULTS } from './faults/dynakube.ts'
import { IMAGE_FAULTS } from './faults/images.ts'
import { POD_FAULTS } from './faults/injected-pod.ts'
import { INSTALLATION_FAULTS } from './faults/installation.ts'
import type { PlantedFault } from './faults/planted-fault.ts'
import { TENANT_FAULTS } from './faults/tenant.ts'
import { WEBHOOK_FAULTS } from './faults/webhook.ts'
import { WORKLOAD_FAULTS } from './faults/workloads.ts'

/** All of them, about in the order of the report. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...INSTALLATION_FAULTS,
  ...WEBHOOK_FAULTS,
  ...WORKLOAD_FAULTS,
  ...DYNAKUBE_FAULTS,
  ...TENANT_FAULTS,
  ...IMAGE_FAULTS,
  ...POD_FAULTS,
]
