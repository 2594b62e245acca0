/** Removes the history of a real cluster's storage, through the HTTP gateway of etcd. */
import { readFile } from 'node:fs/promises'
import { connectionOf } from './connection.ts'
import { RawClient } from './raw-client.ts'

/** Compacts the etcd that `REEVE_ETCD_KUBECONFIG` names, up to its current revision. */
export async function compactEtcd(): Promise<void> {
  const path = process.env.REEVE_ETCD_KUBECONFIG
  if (path === undefined) throw new Error('REEVE_ETCD_KUBECONFIG is not set: run this suite with `npm run test:real`')
  const etcd = new RawClient(connectionOf(await readFile(path, 'utf8')))
  try {
    const { header } = await ask<{ header: { revision: string } }>(etcd, '/v3/maintenance/status', {})
    await ask(etcd, '/v3/kv/compaction', { revision: header.revision, physical: true })
  } finally {
    await etcd.close()
  }
}

async function ask<T>(etcd: RawClient, path: string, body: unknown): Promise<T> {
  const { status, text, json } = await etcd.send({ method: 'POST', path, body })
  if (status !== 200) throw new Error(`etcd ${path}: ${status} ${text}`)
  return json<T>()
}
