import { expect, it } from 'vitest'
import { orphansOf } from './remove-orphans.ts'

const mount = (device: string, mountPoint: string, type = 'overlay') => ({
  device,
  root: '/',
  mountPoint,
  type,
  options: {},
})

it('orphans are overlays of volumes that are mounted nowhere else', () => {
  const used = mount('0:1', '/data/appmounts/a/mapped')
  const orphan = mount('0:2', '/data/appmounts/b/mapped')
  const table = [
    mount('0:9', '/data/elsewhere/c/mapped'),
    mount('0:8', '/data/appmounts', 'ext4'),
    used,
    mount('0:1', '/var/lib/kubelet/pods/1/mount'),
    orphan,
  ]
  expect(orphansOf(table, '/data/appmounts')).toEqual([orphan])
})
