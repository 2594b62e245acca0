/** The webhook server on the embedded or a real cluster: one stage for all, because the CRDs are one for the cluster. */
import { afterAll, beforeAll } from 'vitest'
import { setWebhookStage, type WebhookStage } from '../support/webhook-stage.ts'
import { admissionSuite } from './suites/admission.ts'
import { chartSuite } from './suites/chart.ts'
import { injectionSuite } from './suites/injection.ts'
import { lifeSuite } from './suites/life.ts'
import { samplesSuite } from './suites/samples.ts'

let stage: WebhookStage
beforeAll(async () => {
  stage = await setWebhookStage()
  await stage.register()
})
afterAll(() => stage?.close())

samplesSuite(() => stage)
admissionSuite(() => stage)
chartSuite(() => stage)
injectionSuite(() => stage)
// Last: it replaces the authority.
lifeSuite(() => stage)
