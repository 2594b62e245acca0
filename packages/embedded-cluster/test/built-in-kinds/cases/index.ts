/** All cases, by the name of their record file. */
import type { RecordedCase } from '../recorded-case.ts'
import { coreDefaults } from './defaults-of-core-kinds.ts'
import { otherDefaults } from './defaults-of-other-kinds.ts'
import { podDefaults } from './defaults-of-pods.ts'
import { workloadDefaults } from './defaults-of-workloads.ts'
import { invalidCoreKinds } from './invalid-core-kinds.ts'
import { invalidOtherKinds } from './invalid-other-kinds.ts'
import { invalidPods } from './invalid-pods.ts'
import { invalidWorkloads } from './invalid-workloads.ts'
import { warnings } from './warnings.ts'

export const suites: Readonly<Record<string, readonly RecordedCase[]>> = {
  'defaults-of-pods': podDefaults,
  'defaults-of-workloads': workloadDefaults,
  'defaults-of-core-kinds': coreDefaults,
  'defaults-of-other-kinds': otherDefaults,
  'invalid-pods': invalidPods,
  'invalid-workloads': invalidWorkloads,
  'invalid-core-kinds': invalidCoreKinds,
  'invalid-other-kinds': invalidOtherKinds,
  warnings,
}
