/** The scripts of a release, without a release: versions in a copy of the repository, and uploads as dry runs. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '@reeve/publish'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { succeed } from '../../src/run.ts'
import { packed } from '../support/packed.ts'

const LONG_MS = 900_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-release-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const options = () => ({ cwd: folder, path: dirname(process.execPath) })
const manifestOf = async (path: string) => JSON.parse(await readFile(join(folder, path, 'package.json'), 'utf8'))

describe('a release', () => {
  it('gives packages and charts one version, and the packages a changelog', { timeout: LONG_MS }, async () => {
    const files = (await succeed('git', ['ls-files', '-z'], { cwd: REPOSITORY }))
      .split('\0')
      .filter((file) => file !== '')
    const isNeeded =
      /(?:^|\/)package(?:-lock)?\.json$|^\.changeset\/|Chart\.yaml$|^tools\/publish\/src\/|^packages\/[^/]+\/CHANGELOG\.md$/
    for (const file of files.filter((one) => isNeeded.test(one))) {
      await cp(join(REPOSITORY, file), join(folder, file), { recursive: true })
    }
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'))
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '.'],
      ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 't'],
    ]) {
      await succeed('git', args, options())
    }
    await writeFile(
      join(folder, '.changeset', 'a-change.md'),
      "---\n'@reeve/kube': minor\n---\n\nA change that users notice.\n",
    )
    const before = (await manifestOf('packages/kube')).version
    // As `npm run release:version` does, but for the lock file.
    await succeed(join(REPOSITORY, 'node_modules/.bin/changeset'), ['version'], options())
    await succeed('node', ['tools/publish/src/chart-versions.ts'], options())
    const { version } = await manifestOf('packages/kube')
    expect(version).not.toBe(before)
    for (const name of ['runtime', 'cli', 'create-reeve-operator']) {
      expect((await manifestOf(`packages/${name}`)).version).toBe(version)
    }
    expect((await manifestOf('packages/runtime')).dependencies['@reeve/kube']).toBe(version)
    expect(await readFile(join(folder, 'packages/kube/CHANGELOG.md'), 'utf8')).toContain('A change that users notice.')
    expect(await readFile(join(folder, 'operators/webapp/chart/Chart.yaml'), 'utf8')).toContain(`version: ${version}`)
  })

  it('would upload every package, and only from what was built', { timeout: LONG_MS }, async () => {
    const archives = await packed()
    for (const { name, archive } of archives) {
      const args = ['publish', '--dry-run', '--json', '--access', 'public', '--ignore-scripts', archive]
      expect(await succeed('npm', args, options())).toContain(`"${name}@`)
    }
    // The folder of the sources is refused.
    const source = { cwd: join(REPOSITORY, 'packages/kube'), path: dirname(process.execPath) }
    await expect(succeed('npm', ['publish', '--dry-run'], source)).rejects.toThrow(
      'publish dist instead: npm run release',
    )
  })
})
