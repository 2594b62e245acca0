/** The facts at the top of the README, which stand where other projects have badges. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')

test('the README names the license, the Node and the Kubernetes that the repository is made for', async () => {
  const [readme = '', manifest = '', goMod = ''] = await Promise.all(
    ['README.md', 'package.json', 'tools/real-cluster/go.mod'].map(read),
  )
  const { license, engines } = JSON.parse(manifest)
  expect(readme).toContain(`License [${license}](LICENSE)`)
  expect(readme).toContain(`Node ${/^>=(\d+)$/.exec(engines.node)?.[1]} or newer`)
  expect(readme).toContain(`[Kubernetes ${/k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1]}]`)
})
