/** Fuzzes what the kubelet sends to the CSI driver: the messages, and attributes that any pod may have. */
import { broken, fuzz } from '@reeve/fuzz'
import fc from 'fast-check'
import { StatusError } from '../src/csi/grpc/status-error.ts'
import { volumeOf } from '../src/csi/server/publish-request.ts'
import { readIsReady, readPublishRequest } from '../src/csi/wire/csi-messages.ts'
import { bytesField, message, textField, WireError } from '../src/csi/wire/protobuf.ts'
import { readRegistrationStatus } from '../src/csi/wire/registration-messages.ts'

const name = fc.constantFrom('', 'web', '..', '../x', 'a/b', '10m', 'app', 'csi.storage.k8s.io/pod.name', 'dynakube')
const entry = fc.tuple(name, name).map(([key, value]) => bytesField(8, message(textField(1, key), textField(2, value))))

fuzz('csi-message', {
  inputs: fc
    .tuple(name, name, fc.array(entry, { maxLength: 6 }))
    .map(([id, path, entries]) =>
      message(textField(1, id), textField(4, path), bytesField(5, bytesField(2, new Uint8Array())), ...entries),
    ),
  dictionary: ['\x0a', '\x12', '\x22', '\x2a', '\x42', '\xff', 'mode', 'dynakube', '..'],
  run(input) {
    try {
      readIsReady(input)
      readRegistrationStatus(input)
      const { id, dynakube, podName, podNamespace } = volumeOf(readPublishRequest(input))
      const names = [id, dynakube, podName, podNamespace]
      if (names.some((each) => each.includes('/') || each === '..')) {
        throw broken('names of a volume stay in their folder', input, names)
      }
    } catch (error) {
      if (!(error instanceof WireError || error instanceof StatusError)) throw error
    }
  },
})
