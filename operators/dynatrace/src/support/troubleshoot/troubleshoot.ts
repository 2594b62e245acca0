/** Runs all checks in their order, and reports every finding. */
import { checkClock } from './checks/clock.ts'
import { checkCsiDriver } from './checks/csi-driver.ts'
import { checkDynaKube } from './checks/dynakube.ts'
import { checkNamespaces } from './checks/namespaces.ts'
import { checkOperator } from './checks/operator.ts'
import { checkPod } from './checks/pod.ts'
import { checkNamespace, checkOneAgentApm, findDynaKubes } from './checks/prerequisites.ts'
import { checkRolledOutPods } from './checks/rolled-out-pods.ts'
import { checkWebhook } from './checks/webhook.ts'
import { checkWorkloads } from './checks/workloads.ts'
import { readRemedy, reporterOf, type TroubleshootContext } from './context.ts'
import type { CheckName } from './finding.ts'

/**
 * Checks an installation.
 *
 * *Guarantees*: nothing is changed; every request has a deadline; a failing check does not keep later ones from running,
 * except for a prerequisite without which they would all fail.
 *
 * *Errors*: only the reason of the signal.
 *
 * @returns whether no check found an error
 */
export async function troubleshoot(context: TroubleshootContext): Promise<boolean> {
  let errors = 0
  const counting: TroubleshootContext = {
    ...context,
    report: (finding) => {
      if (finding.status === 'error') errors += 1
      context.report(finding)
    },
  }
  await runChecks(counting)
  return errors === 0
}

async function runChecks(context: TroubleshootContext): Promise<void> {
  if (!(await checkOneAgentApm(context))) return
  if (!(await checkNamespace(context))) return
  const dynakubes = await findDynaKubes(context)
  if (dynakubes === undefined) return
  await checkClock(context, dynakubes)
  await isolated(context, 'operator', () => checkOperator(context))
  await isolated(context, 'webhook', () => checkWebhook(context, dynakubes))
  await isolated(context, 'csi', () => checkCsiDriver(context, dynakubes))
  await isolated(context, 'namespaces', () => checkNamespaces(context, dynakubes))
  await isolated(context, 'pods', () => checkRolledOutPods(context))
  await isolated(context, 'pods', () => checkWorkloads(context))
  for (const dynakube of dynakubes) await isolated(context, 'dynakube', () => checkDynaKube(context, dynakube))
  if (context.pod !== undefined) await isolated(context, 'pod', () => checkPod(context, dynakubes))
}

/** A check that cannot be completed is an error of its own; the next one runs. */
async function isolated(context: TroubleshootContext, check: CheckName, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    context.signal.throwIfAborted()
    reporterOf(context, check).failed('the check could not be completed', error, readRemedy(error))
  }
}
