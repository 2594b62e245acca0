/** The operator: its pod runs, and one replica is the leader and reconciles. */
import { CustomResourceDefinitions, type Deployment, Deployments, isForbidden, Leases } from '@reeve/kube'
import { DynaKubeCrd } from '../../../api/dynakube/dynakube-crd.ts'
import { CRD_VERSION_LABEL } from '../../../controllers/crd-version/crd-version.ts'
import { FIELD_MANAGER, LEASE_NAME, WEBHOOK_NAME } from '../../../installed-names.ts'
import { find, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

/** What a Lease lasts if it does not say. */
const DEFAULT_LEASE_SECONDS = 30
/** Another replica takes over after one duration; after more of them there is none. */
const STALE_DURATIONS = 3

/** Checks the operator, unless it runs elsewhere, such as on the machine of a developer. */
export async function checkOperator(context: TroubleshootContext): Promise<void> {
  const { namespace, clock } = context
  const reporter = reporterOf(context, 'operator')
  reporter.start('checking the operator ...')
  const title = `the Deployment ${namespace}/${FIELD_MANAGER}`
  const log = `check its log: kubectl logs -n ${namespace} deploy/${FIELD_MANAGER}`
  const deployment = await find(context, Deployments, { namespace, name: FIELD_MANAGER })
  if (deployment === undefined) {
    // Without the webhook, nothing of the chart is installed here, and the operator runs on some other machine.
    if ((await find(context, Deployments, { namespace, name: WEBHOOK_NAME })) === undefined) {
      reporter.info(`${title} does not exist: whether the operator runs elsewhere is not checked`)
    } else reporter.error(`${title} does not exist: nothing is reconciled`, 'install or upgrade the chart')
    return
  }
  if ((deployment.status?.readyReplicas ?? 0) === 0) {
    const remedy = `look at its pods: kubectl describe pods -n ${namespace} -l name=${FIELD_MANAGER}`
    reporter.error(`${title} has no ready pod: nothing is reconciled`, remedy)
    return
  }
  await checkCrdVersion(context, reporter, deployment)
  const lease = await find(context, Leases, { namespace, name: LEASE_NAME })
  const { renewTime, holderIdentity, leaseDurationSeconds = DEFAULT_LEASE_SECONDS } = lease?.spec ?? {}
  const renewedMs = Date.parse(renewTime ?? '')
  if (!holderIdentity || Number.isNaN(renewedMs)) {
    reporter.error(
      `no replica of the operator is the leader (Lease ${namespace}/${LEASE_NAME}): nothing is reconciled`,
      log,
    )
    return
  }
  const ageSeconds = Math.round((clock.now() - renewedMs) / 1_000)
  if (ageSeconds > STALE_DURATIONS * leaseDurationSeconds) {
    reporter.error(
      `the leader ${holderIdentity} renewed the Lease ${namespace}/${LEASE_NAME} ${ageSeconds} s ago: nothing is reconciled`,
      `${log}; if it hangs, restart it: kubectl rollout restart -n ${namespace} deploy/${FIELD_MANAGER}`,
    )
  } else reporter.ok(`the operator runs, its leader is ${holderIdentity}`)
}

/** Compares the release of the CRD with that of the operator, where the chart states it. */
async function checkCrdVersion(
  context: TroubleshootContext,
  reporter: CheckReporter,
  { spec }: Deployment,
): Promise<void> {
  const variables = (spec?.template.spec?.containers ?? []).flatMap(({ env }) => env ?? [])
  const expected = variables.find(({ name }) => name === 'APP_VERSION')?.value ?? context.env.APP_VERSION
  if (!expected) return
  const { name } = DynaKubeCrd
  const crd = await find(context, CustomResourceDefinitions, { name }).catch((error: unknown) => {
    if (isForbidden(error)) return undefined
    throw error
  })
  const installed = crd?.metadata.labels?.[CRD_VERSION_LABEL]
  if (crd === undefined || installed === expected) return
  reporter.warning(
    `the CRD ${name} is of the release ${installed ?? 'unknown'}, the operator of ${expected}`,
    `apply the CRDs of ${expected}, or upgrade the chart with installCRD=true`,
  )
}
