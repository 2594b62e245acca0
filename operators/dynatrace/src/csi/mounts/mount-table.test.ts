import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isBoundElsewhere, isMountPoint, parseMounts, readMounts } from './mount-table.ts'

describe('the table of mounts', () => {
  it('has devices, places, types and options, with any number of optional fields', () => {
    const table = [
      '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext4 /dev/root rw,errors=continue',
      '40 36 0:52 / /data/with\\040space rw - overlay overlay rw,lowerdir=/a\\054b,upperdir=/u,workdir=/w',
      'not a line',
      '',
    ].join('\n')
    expect(parseMounts(table)).toEqual([
      { device: '98:0', root: '/mnt1', mountPoint: '/mnt2', type: 'ext4', options: { rw: '', errors: 'continue' } },
      {
        device: '0:52',
        root: '/',
        mountPoint: '/data/with space',
        type: 'overlay',
        options: { rw: '', lowerdir: '/a,b', upperdir: '/u', workdir: '/w' },
      },
    ])
  })

  it('shows that a directory is bound to another place', () => {
    const mounts = parseMounts(
      [
        '1 0 8:1 / / rw - ext4 /dev/sda1 rw',
        '2 1 8:2 /disk /data rw - ext4 /dev/sda2 rw',
        '3 1 8:2 /disk/dk/osagent /pods/agent/mount rw - ext4 /dev/sda2 rw',
        '4 1 8:1 /disk/other/osagent /elsewhere rw - ext4 /dev/sda1 rw',
      ].join('\n'),
    )
    const bound = ['/data/dk/osagent', '/data/dk', '/data/other/osagent', '/pods'].map((path) =>
      isBoundElsewhere(path, mounts),
    )
    expect(bound).toEqual([true, false, false, false])
  })

  it.runIf(process.platform === 'linux')('of this machine has its root (skipped except on Linux)', async () => {
    expect((await readMounts()).map(({ mountPoint }) => mountPoint)).toContain('/')
  })
})

describe.runIf(process.platform === 'linux')('a mount point (skipped except on Linux)', () => {
  it('is found through links; other folders and missing ones are not mounts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mounts-'))
    try {
      await symlink('/proc', join(folder, 'link'))
      const paths = ['/proc', join(folder, 'link'), folder, join(folder, 'missing')]
      expect(await Promise.all(paths.map(isMountPoint))).toEqual([true, true, false, false])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
