import { expect, test } from 'vitest';
import { isPublic } from './calls';

test.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])(
  '%s is public',
  (address) => expect(isPublic(address)).toBe(true),
);

test.each([
  // IPv4: unspecified, loopback, private, shared, link-local and metadata
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '100.100.100.200', '100.127.255.255', '169.254.1.1', '169.254.169.254', '168.63.129.16'],
  // reserved, for documentation and benchmarks, relays, multicast, broadcast
  ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
  ...['192.31.196.1', '192.52.193.1', '192.175.48.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  // IPv6: unspecified, loopback, link-local, site-local, unique local, metadata, multicast
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'fe80::1%lo',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
  ],
  // which stand for IPv4 addresses: mapped, compatible, translated, 6to4, Teredo
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '::7f00:1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:1::1', '2001::1'],
  // reserved
  ...['100::1', '2001:db8::1', '2001:2::1', '2001:10::1', '2001:20::1', '3fff::1', '5f00::1', '4000::1', '200::1'],
  // in other spellings
  ...['127.1', '0177.0.0.1', '0x7f.0.0.1', '2130706433', '0x7f000001', '127.0.0.1.', '[::1]', '', 'localhost'],
])('%s is not public', (address) => expect(isPublic(address)).toBe(false));
