/** What everything else depends on: no former operator, the namespace, the CRD, DynaKubes. */
import { isNotFound, isNotServed, Namespaces, type Stored } from '@reeve/kube'
import { DynaKubeCrd } from '../../../api/dynakube/dynakube-crd.ts'
import { type DynaKube, DynaKubes } from '../../../api/latest.ts'
import { bounded, find, readRemedy, reporterOf, type TroubleshootContext } from '../context.ts'

/** The kind of the OneAgent operator, which this one replaces. */
const FORMER_KIND = 'OneAgentAPM'

/** Fails if a CRD of the former operator is left. */
export async function checkOneAgentApm(context: TroubleshootContext): Promise<boolean> {
  const reporter = reporterOf(context, 'oneAgentAPM')
  reporter.start('checking if OneAgentAPM exists ...')
  try {
    const resources = await context.client.discovery.resources(bounded(context))
    const found = resources.find(({ kind }) => kind === FORMER_KIND)
    if (found === undefined) {
      reporter.ok('OneAgentAPM does not exist')
      return true
    }
    const crd = `${found.plural}.${found.group}`
    reporter.error(
      `a prerequisite failed: the CRD ${crd} of the former OneAgent operator still exists`,
      `uninstall the former operator, then run: kubectl delete crd ${crd}`,
    )
  } catch (error) {
    context.signal.throwIfAborted()
    reporter.failed('a prerequisite failed: the API server cannot be asked what it serves', error, readRemedy(error))
  }
  return false
}

/** Fails if the namespace of the operator does not exist. */
export async function checkNamespace(context: TroubleshootContext): Promise<boolean> {
  const { namespace } = context
  const reporter = reporterOf(context, 'namespace')
  reporter.start(`checking if namespace ${namespace} exists ...`)
  try {
    if ((await find(context, Namespaces, { name: namespace })) !== undefined) {
      reporter.ok(`using namespace ${namespace}`)
      return true
    }
    const remedy = 'name the namespace of the operator with -n, or create it and install the chart there'
    reporter.error(`a prerequisite failed: the namespace ${namespace} does not exist`, remedy)
  } catch (error) {
    context.signal.throwIfAborted()
    reporter.failed(`a prerequisite failed: the namespace ${namespace} cannot be read`, error, readRemedy(error))
  }
  return false
}

/** The DynaKubes to check; `undefined` if they cannot be read. */
export async function findDynaKubes(context: TroubleshootContext): Promise<readonly Stored<DynaKube>[] | undefined> {
  const { namespace, dynakube: name } = context
  const general = reporterOf(context, '')
  const reporter = reporterOf(context, 'crd')
  try {
    const dynakubes = await readDynaKubes(context)
    reporter.start('checking if the CRD for DynaKubes exists ...')
    reporter.ok('the CRD for DynaKubes exists')
    if (dynakubes.length === 0) {
      const remedy = `create a DynaKube in the namespace ${namespace}, or name its namespace with -n`
      general.error(`there is no DynaKube in the namespace ${namespace}`, remedy)
    }
    return dynakubes
  } catch (error) {
    context.signal.throwIfAborted()
    reporter.start('checking if the CRD for DynaKubes exists ...')
    if (isNotServed(error)) {
      const remedy = 'install the chart with installCRD=true, or apply the CRDs of this release'
      reporter.error(`the CRD ${DynaKubeCrd.name} is not installed, or does not serve ${DynaKubes.version}`, remedy)
    } else if (isNotFound(error)) {
      const remedy = `list the names with: kubectl get dynakubes -n ${namespace}`
      reporter.error(`the DynaKube ${namespace}/${name} does not exist`, remedy)
    } else {
      reporter.failed('DynaKubes cannot be read', error, readRemedy(error))
    }
    return undefined
  }
}

async function readDynaKubes(context: TroubleshootContext): Promise<readonly Stored<DynaKube>[]> {
  const { client, namespace, dynakube: name } = context
  if (name !== undefined) return [await client.get(DynaKubes, { namespace, name }, bounded(context))]
  reporterOf(context, '').start(`checking all DynaKubes of the namespace ${namespace} ...`)
  const { items } = await client.listAll(DynaKubes, { namespace, ...bounded(context) })
  return items
}
