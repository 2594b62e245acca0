/** The webhook: its objects, its certificate and its verdicts. */
import { Deployments, Secrets, Services } from '@reeve/kube'
import { webhookObjects } from '../healthy-stage.ts'
import { key, type PlantedFault, scaled, without } from './planted-fault.ts'

/** The webhook: its objects, its certificate and its verdicts. */
export const WEBHOOK_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the Service of the webhook is missing',
    plant: without(Services, key('dynatrace-webhook')),
    check: 'webhook',
    message: /Service dynatrace\/dynatrace-webhook does not exist/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the Service of the webhook has no endpoints',
    plant: async ({ client }) => {
      const select = (version: string | null) =>
        client.patch(Services, key('dynatrace-webhook'), {
          type: 'merge',
          patch: { spec: { selector: { 'app.kubernetes.io/version': version } } },
        })
      await select('0.0.9')
      return async () => void (await select(null))
    },
    check: 'webhook',
    message: /Service dynatrace\/dynatrace-webhook has no endpoints: its selector matches no ready pod/,
    remedy: /labels of the same release/,
  },
  {
    name: 'the webhook is not installed',
    plant: without(Deployments, key('dynatrace-webhook')),
    check: 'webhook',
    message: /Deployment dynatrace\/dynatrace-webhook does not exist/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the webhook is scaled to zero',
    plant: (stage) => scaled('dynatrace-webhook', stage),
    check: 'webhook',
    message: /is scaled to 0/,
    remedy: /scale it up/,
  },
  {
    name: 'the certificate of the webhook has expired',
    plant: async (stage) => {
      for (const object of await webhookObjects(Date.now() - 30 * 24 * 3_600_000)) await stage.apply(object)
      return async () => {
        for (const object of await webhookObjects(Date.now())) await stage.apply(object)
      }
    },
    check: 'webhook',
    message: /certificate of the webhook expired at/,
    remedy: /delete the Secret dynatrace\/dynatrace-webhook-certs/,
  },
  {
    name: 'the webhook configuration trusts another authority',
    plant: async (stage) => {
      const [, validating, mutating] = await webhookObjects(Date.now())
      for (const object of [validating, mutating]) if (object !== undefined) await stage.apply(object)
      return async () => {
        for (const object of await webhookObjects(Date.now())) await stage.apply(object)
      }
    },
    check: 'webhook',
    message: /MutatingWebhookConfiguration dynatrace-webhook does not trust/,
    remedy: /caBundle/,
  },
  {
    name: 'the API server cannot reach the webhook',
    plant: async (stage) => {
      stage.webhook = 'cannot be reached'
      return () => {
        stage.webhook = 'allows'
      }
    },
    check: 'webhook',
    message: /API server cannot call the webhook/,
    remedy: /network policies/,
  },
  {
    name: 'the webhook rejects the DynaKube as it is stored',
    plant: async (stage) => {
      stage.webhook = 'denies'
      return () => {
        stage.webhook = 'allows'
      }
    },
    check: 'webhook',
    message: /rejects the DynaKube dynatrace\/abc12345 as it is: .*spec\.apiUrl/,
    remedy: /change the field/,
  },
  {
    name: 'the Secret with the certificate of the webhook was deleted',
    plant: without(Secrets, key('dynatrace-webhook-certs')),
    check: 'webhook',
    message: /dynatrace-webhook-certs does not exist/,
    remedy: /check that the operator runs/,
  },
]
