/** @module The CSI driver, for benchmarks. */
export { callUnix } from './grpc/unix-client.ts'
export { kernelMounts } from './mounts/kernel-mounts.ts'
export { runCsiServer } from './server/csi-server.ts'
export { bytesField, message, textField } from './wire/protobuf.ts'
