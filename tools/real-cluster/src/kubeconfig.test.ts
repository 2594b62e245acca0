import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readKubeconfig, renderKubeconfig } from './kubeconfig.ts'

describe('a kubeconfig', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is read back as it was written', async () => {
    const connection = { server: 'https://127.0.0.1:1', ca: 'CA', cert: 'CERT', key: 'KEY' }
    await writeFile(join(folder, 'config'), renderKubeconfig(connection))
    expect(await readKubeconfig(join(folder, 'config'))).toEqual({ ...connection, token: undefined })
  })

  it('may refer to files next to it', async () => {
    await writeFile(join(folder, 'ca.crt'), 'CA')
    const config = `
current-context: it
contexts: [{ name: it, context: { cluster: c, user: u } }]
clusters: [{ name: c, cluster: { server: 'https://host', certificate-authority: ca.crt } }]
users: [{ name: u, user: { token: secret } }]`
    await writeFile(join(folder, 'config'), config)
    expect(await readKubeconfig(join(folder, 'config'))).toMatchObject({ ca: 'CA', token: 'secret' })
  })

  it('without a current context is rejected with its path', async () => {
    await writeFile(join(folder, 'config'), 'contexts: []')
    await expect(readKubeconfig(join(folder, 'config'))).rejects.toMatchObject({
      code: 'REAL_CLUSTER_KUBECONFIG_INVALID',
    })
  })
})
