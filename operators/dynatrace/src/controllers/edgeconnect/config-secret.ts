/** The Secret with the configuration file, as an earlier reconcile wrote it. */
import { parse } from 'yaml'
import { configSecretName } from '../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../api/latest.ts'
import type { NamespaceView } from '../references/namespace-view.ts'

/** The name of the configuration file, and its key in the Secret. */
export const CONFIG_FILE = 'edgeConnect.yaml'

/** The token in the configuration file; `undefined` when it is absent or the file is damaged. */
export function storedAutomationToken(edgeConnect: EdgeConnect, view: NamespaceView): string | undefined {
  const file = view.secret(configSecretName(edgeConnect))?.[CONFIG_FILE]
  try {
    const { secrets } = (parse(file ?? '') ?? {}) as { readonly secrets?: readonly { readonly token?: unknown }[] }
    const token = secrets?.[0]?.token
    return typeof token === 'string' && token !== '' ? token : undefined
  } catch {
    // A manual change has damaged the Secret: the next reconcile replaces it.
    return undefined
  }
}
