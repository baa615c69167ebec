# Makes one C++ source of the devices: cmake -DDEVICES=devices.txt -DOUTPUT=... -P
# embed_devices.cmake.
file(READ ${DEVICES} text)
file(WRITE ${OUTPUT} "#include \"pageload/devices/device.h\"

namespace reprise {

const std::string_view kDevicesText = R\"text(${text})text\";

}  // namespace reprise
")
