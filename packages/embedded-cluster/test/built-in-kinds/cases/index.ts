/** All cases, by the file that holds their records. */
import type { RecordedCase } from '../recorded-case.ts'
import { advice } from './advice.ts'
import { coreDefaults } from './defaults-of-core-kinds.ts'
import { otherDefaults } from './defaults-of-other-kinds.ts'
import { podDefaults } from './defaults-of-pods.ts'
import { workloadDefaults } from './defaults-of-workloads.ts'
import { coreMistakes } from './mistakes-in-core-kinds.ts'
import { otherMistakes } from './mistakes-in-other-kinds.ts'
import { podMistakes } from './mistakes-in-pods.ts'
import { workloadMistakes } from './mistakes-in-workloads.ts'

export const suites: Readonly<Record<string, readonly RecordedCase[]>> = {
  'defaults-of-pods': podDefaults,
  'defaults-of-workloads': workloadDefaults,
  'defaults-of-core-kinds': coreDefaults,
  'defaults-of-other-kinds': otherDefaults,
  'mistakes-in-pods': podMistakes,
  'mistakes-in-workloads': workloadMistakes,
  'mistakes-in-core-kinds': coreMistakes,
  'mistakes-in-other-kinds': otherMistakes,
  advice,
}
