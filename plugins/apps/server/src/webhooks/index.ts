export {
  type HeaderOf,
  type Refused,
  type SignedHeaders,
  signed,
  standardKey,
  TOLERANCE,
  type Verified,
  verifyHex,
  verifyStandard,
} from './signatures';
