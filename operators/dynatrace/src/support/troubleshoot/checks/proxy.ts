/** Which proxies are used, and by whom. */
import { Secrets } from '@reeve/kube'
import { hasProxy, proxyUrl } from '../../../api/dynakube/proxy.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { decodeSecret } from '../../../controllers/rendering/secret-data.ts'
import { find, reporterOf, type TroubleshootContext } from '../context.ts'

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY'] as const

/** Compares the proxy of the DynaKube with those of the process environment. */
export async function checkProxy(context: TroubleshootContext, dynakube: DynaKube): Promise<void> {
  const { env, signal } = context
  const namespace = dynakube.metadata.namespace ?? ''
  const reporter = reporterOf(context, 'dynakube.proxy')
  reporter.start('checking proxies ...')
  let url: string | undefined
  try {
    url = await proxyUrl(dynakube, async (name) => {
      const secret = await find(context, Secrets, { namespace, name })
      return secret && decodeSecret(secret.data)
    })
  } catch (error) {
    signal.throwIfAborted()
    reporter.failed(
      'the proxy of the DynaKube is unknown',
      error,
      'correct spec.proxy, or create the Secret that it names',
    )
    return
  }
  if (hasProxy(dynakube)) {
    const remedy = 'configure the proxy of the container runtime on the nodes as well, if registries need one'
    reporter.warning('the proxy of the DynaKube does not apply to images that the kubelet pulls', remedy)
  }
  for (const name of VARIABLES) {
    const value = env[name] || env[name.toLowerCase()]
    if (!value) continue
    const remedy = `make sure that ${name} and spec.proxy are both meant; spec.proxy wins for the tenant`
    reporter.warning(`the process environment has ${name}`, remedy)
    // Either may hold a password: neither is shown.
    if (url !== undefined && value !== url) {
      reporter.warning(`${name} and the proxy of the DynaKube differ`, 'use the same proxy in both, or remove one')
    }
  }
  const isNone = url === undefined && VARIABLES.every((name) => !env[name] && !env[name.toLowerCase()])
  if (isNone) reporter.ok('no proxy is configured')
}
